import type { SshKey } from './records.ts';

/** The text of the key is never told. */
export const sshKeyDocument = ({ id, name }: SshKey) => ({
  id,
  type: 'ssh-keys',
  attributes: { name },
  links: { self: `/api/v2/ssh-keys/${id}` },
});
