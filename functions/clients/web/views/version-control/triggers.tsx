import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { Choice, Select, Text, textOf } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { change } from '#clients/web/session.ts';
import { linesOf } from '#clients/web/text/lists.ts';

/** Triggers of a workspace's runs in its repository. */

type Workspace = Resource<'workspaces'>;
type Mode = 'always' | 'files' | 'patterns' | 'tags';

const modes: (readonly [Mode, string])[] = [
  ['always', 'every push to the branch'],
  ['files', 'pushes that change files in the working directory'],
  ['patterns', 'pushes that change files that match patterns'],
  ['tags', 'new tags'],
];

const modeOf = ({ attributes }: Workspace): Mode => {
  if (attributes['vcs-repo']?.['tags-regex']) return 'tags';
  if (!attributes['file-triggers-enabled']) return 'always';
  return attributes['trigger-patterns'].length > 0 ? 'patterns' : 'files';
};

const settingsOf = (mode: Mode, data: FormData) => ({
  'file-triggers-enabled': mode === 'files' || mode === 'patterns',
  'trigger-prefixes': mode === 'files' ? linesOf(textOf(data, 'trigger-prefixes')) : [],
  'trigger-patterns': mode === 'patterns' ? linesOf(textOf(data, 'trigger-patterns')) : [],
  'speculative-enabled': data.has('speculative-enabled'),
  'vcs-repo': {
    'tags-regex': mode === 'tags' ? textOf(data, 'tags-regex') : null,
    'ingress-submodules': data.has('ingress-submodules'),
  },
});

export const Triggers = ({ workspace, onChange }: { workspace: Workspace; onChange(): void }) => {
  const { attributes } = workspace;
  const mode = useSignal<Mode>(modeOf(workspace));
  const submit = async (data: FormData) => {
    await change(`/workspaces/${workspace.id}`, 'workspaces', settingsOf(mode.value, data));
    onChange();
  };
  return (
    <Form submit="Save triggers" values={attributes} onSubmit={submit}>
      <Select label="Runs are started by" name="mode" options={modes} chosen={mode} />
      {mode.value === 'files' && (
        <Text
          label="Other folders"
          name="trigger-prefixes"
          lines={2}
          value={attributes['trigger-prefixes'].join('\n')}
          hint="One per line, from the repository's root, for example modules/network. Without a working directory and other folders, every push starts a run."
        />
      )}
      {mode.value === 'patterns' && (
        <Text
          label="Patterns"
          name="trigger-patterns"
          lines={3}
          required
          value={attributes['trigger-patterns'].join('\n')}
          hint="One per line, from the repository's root, for example /modules/**/*. The working directory is not included automatically."
        />
      )}
      {mode.value === 'tags' && (
        <Text
          label="Tag expression"
          name="tags-regex"
          required
          value={attributes['vcs-repo']?.['tags-regex'] ?? ''}
          hint="A regular expression that matches anywhere in the tag, for example ^v\d+. Pushes to the branch start no runs."
        />
      )}
      <Choice
        name="speculative-enabled"
        label="Plan pull requests"
        hint="A plan runs the code of everyone who can push a branch, with the workspace's variables."
      />
      <Choice
        name="ingress-submodules"
        label="Include submodules"
        checked={attributes['vcs-repo']?.['ingress-submodules'] ?? false}
      />
    </Form>
  );
};
