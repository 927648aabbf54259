import { onBuild } from '../audit/build-record.ts';
import { canceled, cancelRuns, checkCancelable, checkExpected } from '../cancel.ts';
import { ok } from '../host/answers.ts';
import { CoderError, forbidden } from '../host/errors.ts';
import { audited, type Call, type Route, refused, route } from '../host/route.ts';
import { jobStatus } from '../jobs.ts';
import { buildById, type Found, templateOf } from '../workspaces/finder.ts';
import { maxBuildBytes, postBuild } from './new-build.ts';
import { settleBuild } from './settle.ts';

/** Starting and canceling builds. */

/** A caller without permission to interrupt a build can still cancel one that has not started. */
const mayCancel = async ({ environment, rights }: Found, status: string): Promise<boolean> =>
  status === 'pending' || rights.manage || (await templateOf(environment)).allowUserCancelWorkspaceJobs;

const cancel = async (call: Call) => {
  const target = await buildById(call);
  const { organization } = target.environment;
  const action = onBuild('cancel', target);
  const { build, run } = await settleBuild(target.build);
  const runs = run ? [run] : [];
  const status = jobStatus(build, runs);
  if (!target.mayChange) throw await refused(call, organization, action, forbidden());
  if (!(await mayCancel(target, status))) {
    const error = forbidden('User is not allowed to cancel workspace builds. Owner role is required.');
    throw await refused(call, organization, action, error);
  }
  checkCancelable(status);
  checkExpected(call, status);
  if (!run) throw new CoderError(409, 'The build is being started. Try again.');
  return audited(call, organization, action, async () => {
    await cancelRuns(runs, call.principal.userId);
    return ok(canceled);
  });
};

export const startBuildRoutes: Route[] = [
  route('POST', '/workspaces/{workspace}/builds', postBuild, { maxBytes: maxBuildBytes }),
  route('PATCH', '/workspacebuilds/{build}/cancel', cancel, { query: ['expect_status'] }),
];
