import { homedir } from 'node:os';
import { join } from 'node:path';

/** Programs that are fetched or built for this machine, for all checkouts and data folders; the runner's as well. */
export const machineCache = join(homedir(), '.cache', 'stepform');
