import { runTask } from './program.ts';

void runTask();
