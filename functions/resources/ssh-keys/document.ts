import type { SshKey } from './records.ts';

/** Documents never contain the private key. */
export const sshKeyDocument = ({ id, name }: SshKey) => ({
  id,
  type: 'ssh-keys',
  attributes: { name },
  links: { self: `/api/v2/ssh-keys/${id}` },
});
