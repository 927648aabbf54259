import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { PhaseName, Run } from '#run/run.ts';
import { eventOf, startApi } from './api.ts';
import { runHelpers } from './runs.ts';

/** The runner protocol's function beside the public API, and runs with a phase that a runner has claimed. */
export const startRunnerApi = async () => {
  const api = await startApi();
  const help = await runHelpers(api);
  Object.assign(process.env, { HEARTBEAT_SECONDS: '5', READY_SECONDS: '120', TERRAFORM_ENGINE: 'terraform' });
  const handler: (event: APIGatewayProxyEventV2) => Promise<{ statusCode?: number; body?: string }> = (
    await import('#runner/api/handler.ts')
  ).handler;
  const { claimPhase } = await import('#lifecycle/phases/phases.ts');
  const { hashSecret, newSecret } = await import('#platform/store/id.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { update } = await import('#platform/store/table.ts');
  return {
    help,
    close: () => api.close(),
    api,
    /** A call of a runner: `heartbeat`, `log?offset=0`. */
    call: async (token: string, name: string, body?: object) => {
      const answer = await handler(eventOf('POST', `/runner/v1/${name}`, { token, body }));
      return { status: answer.statusCode, body: JSON.parse(answer.body ?? '{}') };
    },
    /** A run that holds its workspace, with the attributes that the machine would have written. */
    claim: async (phase: PhaseName, more: Partial<Run> & Record<string, unknown> = {}) => {
      const { id: workspace } = await help.ready();
      const { id: run } = await help.create(workspace);
      const secret = newSecret();
      await update(keys.workspace(workspace), { set: { lock: { kind: 'run', runId: run, at: '' } } });
      await help.bring(run, { status: `${phase}_queued`, [`${phase}.claimHash`]: hashSecret(secret), ...more });
      const claimed = await claimPhase(`${run}.${phase}.${secret}`, 'nonce');
      if (!claimed) throw new Error('not claimed');
      return { workspace, run: run as string, token: claimed.token };
    },
  };
};
