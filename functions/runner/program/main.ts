import { runTask } from './program.ts';

// A full disk that takes no more of the runner's own log.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.exit(await runTask());
