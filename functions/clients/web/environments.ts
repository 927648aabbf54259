import type { Tone } from '#run/display.ts';
import { useLive } from './live.ts';
import { callEnvironments } from './session.ts';

/** The parts of the environments' API that the page reads. */

export interface Job {
  status: 'pending' | 'running' | 'succeeded' | 'canceling' | 'canceled' | 'failed';
  error: string;
  started_at: string | null;
  completed_at: string | null;
}

export interface Build {
  id: string;
  build_number: number;
  transition: 'start' | 'stop' | 'delete';
  reason: string;
  status: string;
  created_at: string;
  deadline: string | null;
  template_version_id: string;
  template_version_name: string;
  initiator_name: string;
  daily_cost: number;
  run_id: string | null;
  job: Job;
  resources: { type: string; name: string }[];
}

export interface Environment {
  id: string;
  name: string;
  owner_name: string;
  template_id: string;
  template_name: string;
  template_active_version_id: string;
  template_require_active_version: boolean;
  latest_build: Build;
  outdated: boolean;
  autostart_schedule: string | null;
  next_start_at: string | null;
  ttl_ms: number | null;
  last_used_at: string;
  dormant_at: string | null;
  deleting_at: string | null;
  automatic_updates: 'always' | 'never';
  is_prebuild: boolean;
}

export interface Template {
  id: string;
  name: string;
  display_name: string;
  description: string;
  active_version_id: string;
  deprecated: boolean;
  deprecation_message: string;
  default_ttl_ms: number;
  failure_ttl_ms: number;
  time_til_dormant_ms: number;
  require_active_version: boolean;
  updated_at: string;
}

export interface Version {
  id: string;
  name: string;
  message: string;
  readme: string;
  created_at: string;
  created_by: { username: string };
  archived: boolean;
  job: Job;
}

export interface Parameter {
  name: string;
  display_name: string;
  description: string;
  type: string;
  mutable: boolean;
  ephemeral: boolean;
  required: boolean;
  default_value: string;
  options: { name: string; value: string; description: string }[];
  validation_min?: number;
  validation_max?: number;
  validation_monotonic: string;
}

export interface Preset {
  ID: string;
  Name: string;
  Default: boolean;
  Description: string;
  DesiredPrebuildInstances: number | null;
  Parameters: { Name: string; Value: string }[];
}

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
