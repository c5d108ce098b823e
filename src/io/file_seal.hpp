// A seal behind the last byte of a file: its length and the CRC-32 of all that stands before, as a line of text. Any changed bit of a
// sealed file is found before a format library sees it. HDF5 and most readers ignore what follows the end that the format itself
// states; a program that edits the file drops the line or makes it wrong.
//
// A file whose last line is no seal may have been written without one, or its seal was cut or damaged: which of the two only the format
// can tell, by where it ends. A reader of such a file refuses bytes behind that end.
#pragma once

#include <string>

namespace fd {

// Appends the seal to the file `temporary`; failures throw Error(io) that names `shown`.
void seal_file(const std::string& temporary, const std::string& shown);

enum class Seal { none, whole, broken };
Seal examine_seal(const std::string& path);

}  // namespace fd
