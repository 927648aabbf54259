import { endRunsWithStates } from '../states/end-of-run.ts';

endRunsWithStates();

export { handler } from '../orchestration/sweep.ts';
