// The two streams of the program: results on standard output, all else on standard error. A result that cannot be written is
// an error; a remark that cannot be written is not. Writing waits for whoever reads, until an interrupt is requested.
#pragma once

#include <string>

namespace fd::cli {

// A closed standard stream would give its number to the next file that is opened, and results would be printed into that file.
// Fills such gaps so that writing to them fails instead. Called first in main.
void guard_standard_streams();

void name_program(const char* name);  // of the one that runs; it opens every complaint. Called once, in main
const char* program_name();

// Standard output is a pipe that nobody reads any more, as after `| head`: an end, and nothing to complain about.
struct ClosedPipe {};

// Whole, or Error(io), or ClosedPipe; Error(interrupted) where an interrupt was requested and nobody reads.
// `written`: files that were written before, to be named then.
void print_result(const std::string& text, const std::string& written = {});
// Both show bytes that are no text, and control characters, as \xNN.
void remark(const std::string& line);                                  // a line on standard error
void complain(const std::string& what, const std::string& hint = {});  // "<program>: what", then the hint

// For machines: from here on every remark is one JSON object a line, {"event": "remark", "text": …} and for complaints {"event": "error", "text":
// …, "hint": …}. What is JSON already goes out as it is by `print_event`.
void speak_json();
bool speaks_json();
void print_event(const std::string& json);
// The last line then: {"event": "end", "outcome": …, "status": …, "text": …}.
void print_end(const std::string& outcome, int status, const std::string& text);

bool errors_on_terminal();
bool colour_on_terminal();  // and NO_COLOR is not set

// Numbers for people.
std::string bytes_text(double bytes);
std::string duration_text(double seconds);

}  // namespace fd::cli
