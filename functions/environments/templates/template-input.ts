import * as v from 'valibot';
import { idField, nameField, text } from '../host/body.ts';
import { type Template, type TemplateChange, weekdays } from './records.ts';

/** Input of templates. Unsupported settings are rejected by name. */

const ms = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0)));
const flag = v.nullish(v.boolean());
const leastTtlMs = 60_000;
const ttl = v.nullish(
  v.pipe(
    v.number(),
    v.integer(),
    v.check((value) => value === 0 || value >= leastTtlMs, 'Value must be at least one minute.'),
  ),
);
const days = v.nullish(
  v.pipe(
    v.array(v.string()),
    v.check((names) => names.every((name) => weekdays.includes(name)), `must be of ${weekdays.join(', ')}`),
  ),
);
const weeks = v.pipe(
  v.number(),
  v.minValue(0, 'Must be between 0 and 16.'),
  v.maxValue(16, 'Must be between 0 and 16.'),
);

const common = {
  display_name: v.nullish(text(64)),
  description: v.nullish(text(128)),
  icon: v.nullish(text(256)),
  default_ttl_ms: ms,
  activity_bump_ms: ms,
  autostop_requirement: v.nullish(v.object({ days_of_week: days, weeks: v.nullish(weeks) })),
  autostart_requirement: v.nullish(v.object({ days_of_week: days })),
  allow_user_cancel_workspace_jobs: flag,
  allow_user_autostart: flag,
  allow_user_autostop: flag,
  failure_ttl_ms: ttl,
  time_til_dormant_ms: ttl,
  time_til_dormant_autodelete_ms: ttl,
  require_active_version: flag,
  max_port_share_level: v.nullish(v.picklist(['owner', ''], 'Ports are not shared on this platform.')),
  cors_behavior: v.nullish(v.string()),
  use_classic_parameter_flow: v.nullish(v.literal(true, 'This platform supports the classic parameter flow only.')),
};

export const newTemplate = v.object({
  ...common,
  name: nameField('template_name'),
  template_version_id: idField,
  disable_everyone_group_access: flag,
  delete_ttl_ms: ms,
  dormant_ttl_ms: ms,
});

export const templateChange = v.object({
  ...common,
  name: v.optional(nameField('template_name')),
  deprecation_message: v.nullish(text(500)),
  disable_everyone_group_access: flag,
  update_workspace_last_used_at: flag,
  update_workspace_dormant_at: flag,
  use_terraform_workspace_cache: v.nullish(v.literal(false, 'is not supported: leave it out')),
});

type Common = Pick<v.InferOutput<typeof newTemplate>, keyof typeof common>;

export const settingsIn = (input: Common): TemplateChange => {
  const all = {
    displayName: input.display_name,
    description: input.description,
    icon: input.icon,
    defaultTtlMs: input.default_ttl_ms,
    activityBumpMs: input.activity_bump_ms,
    failureTtlMs: input.failure_ttl_ms,
    timeTilDormantMs: input.time_til_dormant_ms,
    timeTilDormantAutodeleteMs: input.time_til_dormant_autodelete_ms,
    autostopDays: input.autostop_requirement?.days_of_week,
    autostopWeeks: input.autostop_requirement?.weeks || undefined,
    autostartDays: input.autostart_requirement?.days_of_week,
    allowUserCancelWorkspaceJobs: input.allow_user_cancel_workspace_jobs,
    allowUserAutostart: input.allow_user_autostart,
    allowUserAutostop: input.allow_user_autostop,
    requireActiveVersion: input.require_active_version,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null));
};

/** Go clients omit false when they send a document back. */
export const withAbsentFlags = <T extends Common>(input: T): T => ({
  ...input,
  allow_user_cancel_workspace_jobs: input.allow_user_cancel_workspace_jobs ?? false,
  allow_user_autostart: input.allow_user_autostart ?? false,
  allow_user_autostop: input.allow_user_autostop ?? false,
  require_active_version: input.require_active_version ?? false,
});

export const differs = (template: Template, change: TemplateChange): boolean =>
  (Object.keys(change) as (keyof TemplateChange)[]).some(
    (key) => JSON.stringify(template[key]) !== JSON.stringify(change[key]),
  );

const scheduleSettings: (keyof TemplateChange)[] = [
  'allowUserAutostart',
  'autostartDays',
  'failureTtlMs',
  'timeTilDormantMs',
  'timeTilDormantAutodeleteMs',
];

/** Whether the change can affect the next scheduled action of environments. */
export const changesSchedules = (template: Template, change: TemplateChange): boolean =>
  scheduleSettings.some(
    (key) => change[key] !== undefined && JSON.stringify(template[key]) !== JSON.stringify(change[key]),
  );
