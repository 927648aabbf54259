import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/**
 * Encrypts requests with credentials on their way to agents. Only agents that were registered when a request was sent
 * can read it, not readers of the table or of the function between them (X25519, HKDF-SHA-256, AES-256-GCM).
 */

const ivBytes = 12;
const tagBytes = 16;

const encrypt = (key: Uint8Array, plaintext: Uint8Array, purpose: string): Buffer => {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]);
};

/** @throws {Error} for another key, an altered box, or a box for another purpose */
const decrypt = (key: Uint8Array, box: Uint8Array, purpose: string): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, ivBytes)).setAAD(Buffer.from(purpose));
  decipher.setAuthTag(box.subarray(ivBytes, ivBytes + tagBytes));
  return Buffer.concat([decipher.update(box.subarray(ivBytes + tagBytes)), decipher.final()]);
};

const exported = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64');
/** @throws {Error} for an invalid public key */
const imported = (key: string): KeyObject =>
  createPublicKey({ key: Buffer.from(key, 'base64'), type: 'spki', format: 'der' });

export interface AgentKeys {
  /** DER, base64. */
  publicKey: string;
  privateKey: KeyObject;
}

/** Keys of an agent for as long as it runs. */
export const newAgentKeys = (): AgentKeys => {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  return { publicKey: exported(publicKey), privateKey };
};

export const isPublicKey = (key: string): boolean => {
  try {
    return imported(key).asymmetricKeyType === 'x25519';
  } catch {
    return false;
  }
};

const shared = (privateKey: KeyObject, publicKey: KeyObject, id: string): Buffer =>
  Buffer.from(hkdfSync('sha256', diffieHellman({ privateKey, publicKey }), '', `stepform forwarding ${id}`, 32));

/** A request that several agents can open. */
export interface Sealed {
  box: Uint8Array;
  /** Public key, generated for this request alone. */
  sender: string;
  /** The box's key, wrapped for each agent, by agent id. */
  keys: Record<string, Uint8Array>;
}

/** @param id id of the request, which the box is bound to */
export const sealFor = (
  agents: { id: string; publicKey: string }[],
  id: string,
  text: string,
): { sealed: Sealed; key: Buffer } => {
  const key = randomBytes(32);
  const own = generateKeyPairSync('x25519');
  const wrapped = agents.map(({ id: agent, publicKey }): [string, Uint8Array] => [
    agent,
    encrypt(shared(own.privateKey, imported(publicKey), id), key, `${id} key`),
  ]);
  const box = encrypt(key, Buffer.from(text), `${id} request`);
  return { sealed: { box, sender: exported(own.publicKey), keys: Object.fromEntries(wrapped) }, key };
};

/** Called by the agent. @throws {Error} if it was not sealed for this agent */
export const openSealed = (
  { privateKey }: AgentKeys,
  id: string,
  { box, sender, key }: { box: Uint8Array; sender: string; key: Uint8Array },
): { text: string; key: Buffer } => {
  const opened = decrypt(shared(privateKey, imported(sender), id), key, `${id} key`);
  return { text: decrypt(opened, box, `${id} request`).toString('utf8'), key: opened };
};

export const sealAnswer = (key: Uint8Array, id: string, answer: Uint8Array): Buffer =>
  encrypt(key, answer, `${id} answer`);

/** @throws {Error} if the answer does not come from an agent that opened the request */
export const openAnswer = (key: Uint8Array, id: string, box: Uint8Array): Buffer => decrypt(key, box, `${id} answer`);
