import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { Confirm } from '#clients/web/parts/dialog.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { call } from '#clients/web/session.ts';

/** Installations of the platform's GitHub App, if it has one: linked ones, and those that the user may link. */
export const GithubApp = ({ organization, manages }: { organization: string; manages: boolean }) => {
  const path = `/organizations/${organization}/github-app-installations`;
  const live = useLive(
    `github-app/${organization}`,
    async () => {
      const linked = await call<Resource[]>('GET', `${path}?page[size]=100`);
      const installUrl = (linked.meta as { 'install-url'?: string | null } | undefined)?.['install-url'] ?? null;
      if (!installUrl) return { installUrl, linked: [], own: [] };
      const ownInstallations = await call<Resource[]>('GET', '/github-app/installations?page[size]=100').catch(() => ({
        data: [],
      }));
      return {
        installUrl,
        linked: linked.data,
        own: ownInstallations.data.filter((installation) => !installation.attributes.organization),
      };
    },
    () => 15_000,
  );
  if (!live.value?.installUrl) return null;
  const { installUrl, linked, own } = live.value;
  const authorize = async () => {
    const { data } = await call('POST', `${path}/actions/authorize`);
    location.assign(data.attributes['authorize-url']);
  };
  return (
    <section class="stack">
      <h2>GitHub App</h2>
      {linked.length + own.length > 0 && (
        <ul class="panel list" aria-label="Installations of the GitHub App">
          {linked.map((installation) => (
            <Linked
              key={installation.id}
              installation={installation}
              manages={manages}
              path={path}
              onChange={live.refresh}
            />
          ))}
          {manages &&
            own.map((installation) => (
              <Unlinked key={installation.id} installation={installation} path={path} onChange={live.refresh} />
            ))}
        </ul>
      )}
      <div class="panel pad stack">
        <p>
          <a href={installUrl}>Install the app</a> at GitHub, then authorize it with your own account to link the
          installation. Comments of the account on pull requests count as yours from then on.
        </p>
        <Form submit="Authorize with GitHub" onSubmit={authorize}>
          {null}
        </Form>
      </div>
    </section>
  );
};

interface LineProps {
  installation: Resource;
  path: string;
  onChange(): void;
}

const Unlinked = ({ installation, path, onChange }: LineProps) => (
  <li>
    <div class="item">
      <span class="title">{installation.attributes.name}</span>
      <span class="meta">not linked</span>
      <div class="end">
        <Form
          submit={`Link ${installation.attributes.name}`}
          onSubmit={() => call('POST', `${path}/${installation.id}/link-account`).then(onChange)}
        >
          {null}
        </Form>
      </div>
    </div>
  </li>
);

const Linked = ({ installation, manages, path, onChange }: LineProps & { manages: boolean }) => {
  const removing = useSignal(false);
  const { name, 'error-message': error } = installation.attributes;
  return (
    <li>
      <div class="item">
        <span class="title">{name}</span>
        {error && <span class="status bad">{error}</span>}
        {manages && (
          <button type="button" class="end" onClick={() => (removing.value = true)}>
            Unlink
          </button>
        )}
      </div>
      {removing.value && (
        <Confirm
          title={`Unlink the installation for ${name}?`}
          yes="Unlink"
          onYes={() => call('DELETE', `${path}/${installation.id}`).then(onChange)}
          onClose={() => (removing.value = false)}
        >
          <p>Workspaces that follow its repositories are disconnected from them.</p>
        </Confirm>
      )}
    </li>
  );
};
