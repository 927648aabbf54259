import { type Key, keys } from '#platform/store/keys.ts';
import { create, get, queryAll, remove } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';

/** Public keys with which an organization signs its providers. */
export interface GpgKey {
  organization: string;
  /** 16 hexadecimal digits, upper case. */
  keyId: string;
  asciiArmor: string;
  /** Id in the API: a number as text. */
  id: string;
  createdAt: string;
}

export const maxGpgKeys = 50;

export const listGpgKeys = (organization: string): Promise<GpgKey[]> =>
  queryAll<GpgKey & Key>({ pk: keys.organization(organization).pk, prefix: 'GPG#' });

export const getGpgKey = (organization: string, keyId: string): Promise<GpgKey | undefined> =>
  get<GpgKey>(keys.gpgKey(organization, keyId));

/** Undefined when the organization already has the key. 1 write. */
export const createGpgKey = async (
  organization: string,
  keyId: string,
  asciiArmor: string,
): Promise<GpgKey | undefined> => {
  const key: GpgKey = { organization, keyId, asciiArmor, id: BigInt(`0x${keyId}`).toString(), createdAt: now() };
  return (await create({ ...keys.gpgKey(organization, keyId), ...key })) ? key : undefined;
};

/** HashiCorp's own key, which is built into clients. */
const builtInKey = '34365D9472D7468F';

/** Whether clients can verify signatures of the key: it is built in, or the organization has it. At most 1 read. */
export const isKnownKey = async (organization: string, keyId: string): Promise<boolean> =>
  keyId === builtInKey || (await getGpgKey(organization, keyId)) !== undefined;

export const deleteGpgKey = ({ organization, keyId }: GpgKey): Promise<boolean> =>
  remove(keys.gpgKey(organization, keyId));
