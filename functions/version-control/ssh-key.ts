import { createPrivateKey } from 'node:crypto';

/** Private keys without a passphrase, in PEM or OpenSSH's own format (PROTOCOL.key). */

const openSsh = /^-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+)-----END OPENSSH PRIVATE KEY-----\s*$/;
const magic = 'openssh-key-v1\0';

const isOpenSsh = (base64: string): boolean => {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.subarray(0, magic.length).toString('latin1') !== magic) return false;
  const length = bytes.length >= magic.length + 4 ? bytes.readUInt32BE(magic.length) : 0;
  // An encrypted key names a cipher.
  return bytes.subarray(magic.length + 4, magic.length + 4 + length).toString('latin1') === 'none';
};

export const isPrivateKey = (text: string): boolean => {
  const own = openSsh.exec(text.trim());
  if (own) return isOpenSsh(own[1] ?? '');
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPrivateKey(text);
    return type === 'rsa' ? (details?.modulusLength ?? 0) >= 1024 : type === 'ec' || type === 'ed25519';
  } catch {
    return false;
  }
};
