import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { Ago, Code, Loaded } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Picker } from '#clients/web/parts/picker.tsx';
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
  const uploading = useSignal(false);
  const close = () => {
    uploading.value = false;
    // Rejected versions are listed too.
    live.refresh();
    onChange();
  };
  return (
    <section class="stack" aria-label="Versions">
      <div class="row spread">
        <h2>Versions</h2>
        {may && (
          <button type="button" onClick={() => (uploading.value = true)}>
            Upload a version
          </button>
        )}
      </div>
      <Loaded live={live} what="versions">
        {(versions) =>
          versions.length === 0 ? (
            <Empty kind={set.attributes.kind} />
          ) : (
            <ul class="panel list" aria-label="Versions">
              {versions.map((version) => (
                <Line
                  key={version.id}
                  version={version}
                  policies={version.id === current ? set.attributes['policy-count'] : undefined}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {uploading.value && <Upload set={set} onClose={close} />}
    </section>
  );
};

const tones: Record<string, string> = { ready: 'good', errored: 'bad', pending: 'running' };

/** `policies`: number of policies in the current version. */
const Line = ({
  version,
  policies: counted,
}: {
  version: Resource<'policy-set-versions'>;
  policies: number | undefined;
}) => {
  const { status, 'created-at': at, 'error-message': problem } = version.attributes;
  return (
    <li class="item">
      <span class="row">
        <span class="mono">{version.id}</span>
        {counted !== undefined && <span class="tag">current version</span>}
      </span>
      <span class="meta break">
        {problem ?? (counted === undefined ? '' : counted === 1 ? '1 policy' : `${counted} policies`)}
      </span>
      <span class="end">
        <span class={`status ${tones[status] ?? ''}`}>{status}</span>
        <span class="meta">
          <Ago at={at} />
        </span>
      </span>
    </li>
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
  const submit = async () => {
    if (source.value) await uploadPolicies(set.id, source.value);
    onClose();
  };
  return (
    <Dialog title={`New version of ${set.attributes.name}`} onClose={onClose}>
      <Form submit="Upload" disabled={!source.value} onSubmit={submit} onCancel={onClose}>
        <Picker
          label="Policies"
          source={source}
          kind={policies}
          says="Choose the folder with policies.hcl and its .rego files, or an archive (.tar.gz)."
        />
        <p class="soft">It replaces the previous version. New runs are checked with it.</p>
      </Form>
    </Dialog>
  );
};
