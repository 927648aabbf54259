import type { Local } from './platform.ts';

/** Operator actions that bypass the API: directly in the table and bucket on this machine. */

export const operate = ({ awsCredentials, awsEndpointUrl, bucketName, tableName }: Partial<Local>): void => {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: awsCredentials?.accessKeyId,
    AWS_SECRET_ACCESS_KEY: awsCredentials?.secretAccessKey,
    AWS_ENDPOINT_URL: awsEndpointUrl,
    TABLE_NAME: tableName,
    BUCKET_NAME: bucketName,
  });
};

/** Corrupts the table: no state can follow the workspace's. @returns a function that repairs it */
export const meddle = async (workspaceId: string): Promise<() => Promise<void>> => {
  const { get, update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const key = keys.workspace(workspaceId);
  const { state } = (await get<{ state: object }>(key)) ?? {};
  await update(key, { set: { 'state.lineage': 'of another world' } });
  return async () => {
    await update(key, { set: { state } });
  };
};

/** Lets the cool-off of a canceled run pass. */
export const endCoolOff = async (runId: string): Promise<void> => {
  const { updateRun } = await import('#resources/runs/records.ts');
  await updateRun(runId, { set: { 'cancel.forceAvailableAt': new Date().toISOString() } });
};
