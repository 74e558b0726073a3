#include <stdio.h>

#define ROOM 12
#define LONG(x) ((x) > 3)

/* A jar. */
struct jar {
  const char *label;
  int (*open)(struct jar *);
};

typedef struct {
  struct jar jars[ROOM];
} shelf_t;

enum lid { TIN, CORK };

static int count;

int shelf_add(shelf_t *shelf, struct jar *jar);

/*
 * Adds one.
 */
static const char *
shelf_label(const shelf_t *shelf)
{
  struct jar *first = (struct jar *)shelf;
  return first->label;
}
