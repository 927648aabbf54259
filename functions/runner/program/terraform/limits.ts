import { maxTasks } from './control-groups.ts';

/** Maximum of open files per process. Terraform opens one for each provider and connection. */
const maxOpenFiles = 16_384;
/** Maximum size of one file. disk.ts watches the total. */
const maxFileBytes = 16 * 2 ** 30;
/** Unit of `ulimit -f` in POSIX. */
const blockBytes = 512;

/**
 * Makes the kernel end this process first when memory runs out. Processes can lower a score that a user has set, but
 * not one that root has.
 */
export const endsFirst = 'echo 500 >/proc/self/oom_score_adj';

/**
 * Shell commands that limit a process and its children. Errors are ignored: lower limits of the machine stay. The
 * kernel counts processes by user, and each run has its own.
 */
export const limits = [
  'ulimit -c 0',
  `ulimit -f ${maxFileBytes / blockBytes}`,
  `ulimit -n ${maxOpenFiles}`,
  // For bash, and for dash and busybox.
  `ulimit -u ${maxTasks} || ulimit -p ${maxTasks}`,
  endsFirst,
]
  .map((command) => `{ ${command}; } 2>/dev/null\n`)
  .join('');
