import { runTask } from './load-program.ts';

void runTask();
