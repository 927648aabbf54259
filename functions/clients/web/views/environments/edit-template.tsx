import type { Template } from '#clients/web/environments.ts';
import { go } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { ConfirmButton, FormButton } from '#clients/web/parts/dialog.tsx';
import { Choice, Text, textOf } from '#clients/web/parts/fields.tsx';
import { callEnvironments } from '#clients/web/session.ts';
import { hoursIn, hoursText } from '#clients/web/text/environment-schedule.ts';

interface Props {
  template: Template;
  onChange(): void;
}

const path = ({ id }: Template): string => `/templates/${id}`;

/** 0: never. */
const ttlIn = (data: FormData): number => {
  const text = textOf(data, 'ttl');
  const ms = text === undefined ? 0 : hoursIn(text);
  if (ms === undefined) throw new Error('Stop after: write hours and minutes, e.g. 8h or 8h30m.');
  return ms;
};

/** Flags that are left out would be turned off. */
const save = (template: Template, data: FormData): Promise<unknown> =>
  callEnvironments('PATCH', path(template), {
    display_name: textOf(data, 'display_name') ?? '',
    description: textOf(data, 'description') ?? '',
    default_ttl_ms: ttlIn(data),
    deprecation_message: textOf(data, 'deprecation_message') ?? '',
    allow_user_cancel_workspace_jobs: data.has('allow_user_cancel_workspace_jobs'),
    allow_user_autostart: data.has('schedules'),
    allow_user_autostop: data.has('schedules'),
    require_active_version: data.has('require_active_version'),
  });

export const ChangeTemplate = ({ template, onChange }: Props) => (
  <FormButton
    text="Change"
    title={`Change ${template.name}`}
    submit="Save"
    onSubmit={(data) => save(template, data)}
    onClose={onChange}
  >
    <Text label="Display name" name="display_name" value={template.display_name} autoFocus />
    <Text label="Description" name="description" value={template.description} />
    <Text
      label="Stop after"
      name="ttl"
      value={template.default_ttl_ms ? hoursText(template.default_ttl_ms) : ''}
      hint="Hours and minutes after each start, e.g. 8h30m, for new environments. Leave it empty for never."
    />
    <Choice
      name="schedules"
      label="Allow own schedules"
      checked={template.allow_user_autostart && template.allow_user_autostop}
      hint="Owners of environments choose when these start and stop."
    />
    <Choice
      name="require_active_version"
      label="Require the active version"
      checked={template.require_active_version}
      hint="Environments start with the active version only."
    />
    <Choice
      name="allow_user_cancel_workspace_jobs"
      label="Allow canceling builds"
      checked={template.allow_user_cancel_workspace_jobs}
      hint="Otherwise, only those who change templates can cancel a running build."
    />
    <Text
      label="Deprecation"
      name="deprecation_message"
      value={template.deprecation_message}
      hint="What to use instead. With a text, no new environments can be created."
    />
  </FormButton>
);

export const DeleteTemplate = ({ template, organization }: OrganizationProps & { template: Template }) => (
  <ConfirmButton
    text="Delete"
    title={`Delete ${template.name}?`}
    yes="Delete template"
    onYes={async () => {
      await callEnvironments('DELETE', path(template));
      go({ view: 'templates', organization });
    }}
  >
    <p>Its versions and presets are deleted. Only a template without environments can be deleted.</p>
  </ConfirmButton>
);
