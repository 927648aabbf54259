import { maxTasks } from './control-groups.ts';

/** Files that a process has open. Terraform opens one for each provider and connection. */
const maxOpenFiles = 16_384;
/** Of one file: the disk is watched beside that (disk.ts). */
const maxFileBytes = 16 * 2 ** 30;
/** POSIX counts `ulimit -f` in these. */
const blockBytes = 512;

/** Has the kernel end this process first when memory runs out. Processes lower what a user has set, not what root has. */
export const endsFirst = 'echo 500 >/proc/self/oom_score_adj';

/**
 * Shell commands that bound what a process and its children use, in silence: a machine's own lower limits stay. The kernel counts
 * processes by user, who is a run's alone.
 */
export const limits = [
  'ulimit -c 0',
  `ulimit -f ${maxFileBytes / blockBytes}`,
  `ulimit -n ${maxOpenFiles}`,
  // As bash has it, and as dash and busybox have it.
  `ulimit -u ${maxTasks} || ulimit -p ${maxTasks}`,
  endsFirst,
]
  .map((command) => `{ ${command}; } 2>/dev/null\n`)
  .join('');
