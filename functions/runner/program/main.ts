import { runTask } from './program.ts';

// A full disk must not end the runner when it writes its own log.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.exit(await runTask());
