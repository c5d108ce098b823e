/* Loaded before the program (LD_PRELOAD): call number FAIL_AT of those that write to a regular file, flush or rename one, fails as on a
   full disk, or, with FAIL_SIGNAL, raises that signal first and then works. The number of calls goes to the file FAIL_COUNT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int calls;

static int regular(int file) {
  struct stat status;
  return file > 2 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

static int fails(void) {
  const char *at = getenv("FAIL_AT"), *which = getenv("FAIL_SIGNAL");
  if (at == NULL || ++calls != atoi(at)) return 0;
  if (which == NULL) {
    errno = ENOSPC;
    return 1;
  }
  raise(atoi(which));
  return 0;
}

__attribute__((destructor)) static void report(void) {
  const char* name = getenv("FAIL_COUNT");
  FILE* file = name != NULL ? fopen(name, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%d", calls);
  fclose(file);
}

#define FORWARD(type, name, parameters, arguments, condition)                    \
  type name parameters {                                                         \
    static type(*next) parameters;                                               \
    if (next == NULL) next = (type(*) parameters)dlsym(RTLD_NEXT, #name);        \
    if ((condition) && fails()) return -1;                                       \
    return next arguments;                                                       \
  }
FORWARD(ssize_t, write, (int file, const void* data, size_t count), (file, data, count), regular(file))
FORWARD(ssize_t, pwrite, (int file, const void* data, size_t count, off_t at), (file, data, count, at), regular(file))
FORWARD(ssize_t, pwrite64, (int file, const void* data, size_t count, off64_t at), (file, data, count, at), regular(file))
FORWARD(int, ftruncate, (int file, off_t size), (file, size), regular(file))
FORWARD(int, ftruncate64, (int file, off64_t size), (file, size), regular(file))
FORWARD(int, fsync, (int file), (file), regular(file))
FORWARD(int, rename, (const char* from, const char* to), (from, to), 1)
