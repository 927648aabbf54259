import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { call } from '#clients/web/session.ts';

/** Link to a build's run, with plan, policies, costs and task results, for users with permission to see runs. */
export const RunLink = ({ organization, run }: { organization: string; run: string }) => {
  const live = useLive(`workspace of ${run}`, async () => {
    const { included = [] } = await call('GET', `/runs/${run}?include=workspace`);
    return included.find(({ type }) => type === 'workspaces')?.attributes.name as string | undefined;
  });
  if (!live.value) return null;
  return <a href={hrefOf({ view: 'run', organization, workspace: live.value, run })}>View run</a>;
};
