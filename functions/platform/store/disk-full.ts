/** Whether a service failed because the disk of a platform on one machine is full (infra/local/host/answers.ts). */
export const isDiskFull = (error: unknown): boolean => {
  const { name, status } = error as { name?: string; status?: number };
  return name === 'InsufficientStorage' || (name === 'BucketError' && status === 507);
};

export const diskFullText =
  'The disk of this platform is full. Tell its operator to free some space, then repeat the request.';
