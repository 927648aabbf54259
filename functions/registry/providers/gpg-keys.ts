import { type Key, keys } from '../../store/keys.ts';
import { create, get, queryAll, remove } from '../../store/table.ts';
import { now } from '../../store/time.ts';

/** Public keys that an organization signs its providers with. */
export interface GpgKey {
  organization: string;
  /** 16 hexadecimal digits, upper case. */
  keyId: string;
  asciiArmor: string;
  /** As the API calls it: a number as text. */
  id: string;
  createdAt: string;
}

export const maxGpgKeys = 50;

export const listGpgKeys = (organization: string): Promise<GpgKey[]> =>
  queryAll<GpgKey & Key>({ pk: keys.organization(organization).pk, prefix: 'GPG#' });

export const getGpgKey = (organization: string, keyId: string): Promise<GpgKey | undefined> =>
  get<GpgKey>(keys.gpgKey(organization, keyId));

/** Undefined when the organization has it. 1 write. */
export const createGpgKey = async (
  organization: string,
  keyId: string,
  asciiArmor: string,
): Promise<GpgKey | undefined> => {
  const key: GpgKey = { organization, keyId, asciiArmor, id: BigInt(`0x${keyId}`).toString(), createdAt: now() };
  return (await create({ ...keys.gpgKey(organization, keyId), ...key })) ? key : undefined;
};

export const deleteGpgKey = ({ organization, keyId }: GpgKey): Promise<boolean> =>
  remove(keys.gpgKey(organization, keyId));
