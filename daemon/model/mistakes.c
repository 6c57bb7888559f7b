/* mistakes.c - joins a document's mistakes into one line. For separate mistakes read the document's own list. */
#include "model/internal.h"

#include <stdio.h>

int mistakes_report(const struct yaml *y, struct fw_err *err)
{
	char joined[sizeof err->text] = "";
	size_t used = 0;

	if (yaml_mistakes(y) == 0)
		return 0;
	if (yaml_is_out_of_memory(y))
		return err_memory(err, "cannot read %s", yaml_file(y));
	for (const char *line = yaml_mistake_text(y); *line && used < sizeof joined;) {
		size_t len = strcspn(line, "\n");

		used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%.*s", used ? " | " : "", (int)len, line);
		line += len + (line[len] == '\n');
	}
	return err_set(err, ERR_INVALID, "%s", joined);
}
