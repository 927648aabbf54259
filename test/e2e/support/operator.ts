import type { Local } from './platform.ts';

/** What only whoever operates the platform can do, past the API: straight into its table and bucket on this machine. */

export const operate = ({ awsEndpointUrl, bucketName, tableName }: Partial<Local>): void => {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'operator',
    AWS_SECRET_ACCESS_KEY: 'operator',
    AWS_ENDPOINT_URL: awsEndpointUrl,
    TABLE_NAME: tableName,
    BUCKET_NAME: bucketName,
  });
};

/** Somebody meddled with the table: the run is left without its workspace. Undone by {@link giveBack}. */
export const takeAway = async (workspaceId: string): Promise<void> => {
  const { update } = await import('../../../functions/store/table.ts');
  const { keys } = await import('../../../functions/store/keys.ts');
  await update(keys.workspace(workspaceId), { set: { 'lock.runId': 'run-nobody' } });
};

export const giveBack = async (workspaceId: string): Promise<void> => {
  const { update } = await import('../../../functions/store/table.ts');
  const { keys } = await import('../../../functions/store/keys.ts');
  await update(keys.workspace(workspaceId), { remove: ['lock'] });
};

/** Lets the time pass that a canceled run has to stop by itself. */
export const endCoolOff = async (runId: string): Promise<void> => {
  const { updateRun } = await import('../../../functions/store/runs/runs.ts');
  await updateRun(runId, { set: { 'cancel.forceAvailableAt': new Date().toISOString() } });
};
