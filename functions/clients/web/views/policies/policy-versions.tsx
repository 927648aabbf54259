import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { Ago, Code, Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { FormDialog } from '#clients/web/parts/dialog.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Picker } from '#clients/web/parts/picker.tsx';
import { Section } from '#clients/web/parts/section.tsx';
import { call, related } from '#clients/web/session.ts';
import { type Picked, policies, uploadPolicies } from '#clients/web/upload.ts';

/** Number of versions shown. */
const pageSize = 10;

const pollMs = 2_000;

interface Props {
  set: Resource<'policy-sets'>;
  may: boolean;
  onChange(): void;
}

/** Uploaded versions of a policy set. A valid version replaces the previous one. */
export const PolicyVersions = ({ set, may, onChange }: Props) => {
  const current = related(set, 'current-version');
  const live = useLive(
    `${set.id}/${related(set, 'newest-version')}/${current}`,
    async () => (await call<Resource[]>('GET', `/policy-sets/${set.id}/versions?page[size]=${pageSize}`)).data,
    ([newest]) => (newest?.attributes.status === 'pending' ? pollMs : undefined),
  );
  const close = () => {
    // Rejected versions are listed too.
    live.refresh();
    onChange();
  };
  const upload = (
    <DialogButton text="Upload a version" onClose={close}>
      {(close) => <Upload set={set} onClose={close} />}
    </DialogButton>
  );
  return (
    <Section title="Versions" action={may && upload}>
      <Loaded live={live} what="versions">
        {(versions) =>
          versions.length === 0 ? (
            <Empty kind={set.attributes.kind} />
          ) : (
            <List label="Versions" of={versions}>
              {(version) => (
                <Version
                  key={version.id}
                  version={version}
                  policies={version.id === current ? set.attributes['policy-count'] : undefined}
                />
              )}
            </List>
          )
        }
      </Loaded>
    </Section>
  );
};

const tones: Record<string, string> = { ready: 'good', errored: 'bad', pending: 'running' };

interface VersionProps {
  version: Resource<'policy-set-versions'>;
  /** Number of policies in the current version. */
  policies: number | undefined;
}

const Version = ({ version, policies: counted }: VersionProps) => {
  const { status, 'created-at': at, 'error-message': problem, 'uncompiled-reason': uncompiled } = version.attributes;
  return (
    <Item
      title={<span class="mono">{version.id}</span>}
      tags={[counted !== undefined && 'current version']}
      meta={problem ?? (counted === undefined ? '' : counted === 1 ? '1 policy' : `${counted} policies`)}
      end={<span class={`status ${tones[status] ?? ''}`}>{status}</span>}
      notes={[uncompiled && `Not compiled: ${uncompiled}`, <Ago key="at" at={at} />]}
    />
  );
};

const example = (kind: string): string => `policy "no-public-buckets" {
  query             = "data.terraform.buckets.deny"
  enforcement_level = "${kind === 'opa' ? 'mandatory' : 'soft-mandatory'}"
}`;

const Empty = ({ kind }: { kind: string }) => (
  <div class="panel pad stack">
    <p class="soft">
      No versions yet. Upload a folder with a <code>policies.hcl</code> file, which declares each policy, and the{' '}
      <code>.rego</code> files with their rules:
    </p>
    <Code label="Example policies.hcl" text={example(kind)} />
  </div>
);

const Upload = ({ set, onClose }: { set: Resource<'policy-sets'>; onClose(): void }) => {
  const source = useSignal<Picked | undefined>(undefined);
  const submit = async () => source.value && uploadPolicies(set.id, source.value);
  return (
    <FormDialog
      title={`New version of ${set.attributes.name}`}
      submit="Upload"
      disabled={!source.value}
      onSubmit={submit}
      onClose={onClose}
    >
      <Picker
        label="Policies"
        source={source}
        kind={policies}
        says="Choose the folder with policies.hcl and its .rego files, or an archive (.tar.gz)."
      />
      <p class="soft">It replaces the previous version. New runs are checked with it.</p>
    </FormDialog>
  );
};
