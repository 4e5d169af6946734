/* Counts the calls with which a process changes files, and kills it before one of them, or in the middle of a write. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static long last = -1;
static int torn;

void drill_arm(long number, int half) { calls = 0; last = number; torn = half; }
long drill_calls(void) { return calls; }

static int fatal(void) { return atomic_fetch_add(&calls, 1) == last; }
static void end(void) { kill(getpid(), SIGKILL); for (;;) pause(); }
static void step(void) { if (fatal()) end(); }
static int file(int fd) { struct stat about; return fstat(fd, &about) == 0 && S_ISREG(about.st_mode); }

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write);
    if (file(fd) && fatal()) { if (torn) real(fd, data, size / 2); end(); }
    return real(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    REAL(pwrite);
    if (fatal()) { if (torn) real(fd, data, size / 2, at); end(); }
    return real(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(pwrite64);
    if (fatal()) { if (torn) real(fd, data, size / 2, at); end(); }
    return real(fd, data, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    if (file(fd)) step();
    return real(fd, parts, count);
}
#define CALL(type, name, given, passed) type name given { REAL(name); step(); return real passed; }
CALL(int, ftruncate, (int fd, off_t size), (fd, size))
CALL(int, ftruncate64, (int fd, off64_t size), (fd, size))
CALL(int, rename, (const char *from, const char *to), (from, to))
CALL(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
CALL(int, renameat2, (int a, const char *from, int b, const char *to, unsigned how), (a, from, b, to, how))
CALL(int, link, (const char *from, const char *to), (from, to))
CALL(int, unlink, (const char *path), (path))
CALL(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode))
CALL(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))
CALL(int, rmdir, (const char *path), (path))
CALL(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
CALL(int, fallocate64, (int fd, int mode, off64_t at, off64_t size), (fd, mode, at, size))
CALL(ssize_t, copy_file_range, (int a, off64_t *x, int b, off64_t *y, size_t n, unsigned f), (a, x, b, y, n, f))

#define MAKES(flags) ((flags) & (O_CREAT | O_TRUNC))
#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);                \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = MAKES(flags) ? va_arg(more, mode_t) : 0;                                                         \
        va_end(more);                                                                                                  \
        if (MAKES(flags)) step();                                                                                      \
        return real(path, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)

/* Only the process is killed, not the machine: what was written stays, whether or not it was synced. */
int fsync(int fd) { (void)fd; return 0; }
int fdatasync(int fd) { (void)fd; return 0; }
