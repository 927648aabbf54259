import type { buildDocument } from '#environments/builds/document.ts';
import type { templateDocument } from '#environments/templates/template-document.ts';
import type { parameterDocument, presetDocument, versionDocument } from '#environments/templates/version-document.ts';
import type { environmentDocument } from '#environments/workspaces/document.ts';
import type { Tone } from '#run/display.ts';
import { useLive } from './live.ts';
import { callEnvironments } from './session.ts';

/** The environments' API, with types from the functions that write its documents. */

export type Build = ReturnType<typeof buildDocument>;
export type Environment = ReturnType<typeof environmentDocument>;
export type Template = ReturnType<typeof templateDocument>;
export type Version = ReturnType<typeof versionDocument>;
export type Parameter = ReturnType<typeof parameterDocument>;
export type Preset = ReturnType<typeof presetDocument>;

export interface Value {
  name: string;
  value: string;
}

export const read = <T>(path: string): Promise<T> => callEnvironments<T>('GET', path);

export const segment = encodeURIComponent;

const tones: Record<string, Tone> = { running: 'good', stopped: 'neutral', deleted: 'neutral', failed: 'bad' };

/** @param status of an environment's latest build */
export const toneOf = (status: string): Tone => tones[status] ?? (status === 'canceled' ? 'attention' : 'running');

export const isBusy = ({ job }: Build): boolean => job.completed_at === null;

export interface Rights {
  /** May create environments. */
  create: boolean;
  /** May change templates. */
  manage: boolean;
}

/** The user's permissions in the organization; none while they load. */
export const useRights = (organization: string): Rights => {
  const object = { organization_id: organization };
  const checks = {
    create: { object: { ...object, resource_type: 'workspace', owner_id: 'me' }, action: 'create' },
    manage: { object: { ...object, resource_type: 'template' }, action: 'update' },
  };
  const live = useLive(
    `environments' rights/${organization}`,
    () => callEnvironments<Rights>('POST', '/authcheck', { checks }),
    60_000,
  );
  return live.value ?? { create: false, manage: false };
};

/** Parameters and presets of a template version. */
export const readVersion = async (id: string): Promise<{ parameters: Parameter[]; presets: Preset[] }> => {
  const [parameters, presets] = await Promise.all([
    read<Parameter[]>(`/templateversions/${segment(id)}/rich-parameters`),
    read<Preset[] | null>(`/templateversions/${segment(id)}/presets`),
  ]);
  return { parameters, presets: presets ?? [] };
};
