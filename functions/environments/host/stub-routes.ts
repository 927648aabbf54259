import type { ApiRequest } from '#api/request.ts';
import { environment } from '#platform/environment.ts';
import { buildVersion, coderVersion, html, ok } from './answers.ts';
import { forbidden } from './errors.ts';
import { open, type Route, route } from './route.ts';
import { uuidOf } from './uuid.ts';

/** Fixed responses that clients need before anything else. */

const buildInfo = () => ({
  version: buildVersion,
  external_url: 'https://github.com/coder/coder',
  dashboard_url: environment.environmentsUrl,
  telemetry: false,
  workspace_proxy: false,
  agent_api_version: '2.6',
  provisioner_api_version: '1.12',
  upgrade_message: '',
  deployment_id: uuidOf(environment.environmentsUrl),
});

const entitled = { entitlement: 'entitled', enabled: true };

const entitlements = () => ({
  features: {
    advanced_template_scheduling: entitled,
    access_control: entitled,
    workspace_prebuilds: entitled,
    audit_log: entitled,
  },
  warnings: [],
  errors: [],
  has_license: true,
  trial: false,
  require_telemetry: false,
  refreshed_at: new Date().toISOString(),
});

const authMethods = {
  terms_of_service_url: '',
  password: { enabled: false },
  github: { enabled: false, default_provider_configured: false },
  oidc: { enabled: false, signInText: '', iconUrl: '' },
};

const appearance = {
  application_name: '',
  logo_url: '',
  docs_url: '',
  service_banner: { enabled: false },
  announcement_banners: [],
};

/** `coder login` without a token opens this page. */
const cliAuth = (_: ApiRequest) =>
  html(`<!doctype html><meta charset="utf-8"><title>Sign in with the coder command line</title>
<p>Make an API token on the platform's own page (your account, Tokens), then paste it into the terminal:</p>
<pre>coder login ${environment.environmentsUrl} --token YOUR-TOKEN</pre>`);

export const stubRoutes: Route[] = [
  { method: 'GET', path: '/api/v2', access: 'anyone', answer: async () => ok({ message: '👋' }) },
  { method: 'GET', path: '/cli-auth', access: 'anyone', answer: async (request) => cliAuth(request) },
  { method: 'GET', path: '/healthz', access: 'anyone', answer: async () => ok({ status: 'ok' }) },
  open('GET', '/buildinfo', () => ok(buildInfo())),
  open('GET', '/users/first', () => ok({ message: 'The initial user has already been created!' })),
  open('GET', '/users/authmethods', () => ok(authMethods)),
  route('GET', '/entitlements', async () => ok(entitlements())),
  route('GET', '/experiments', async () => ok([])),
  open('GET', '/updatecheck', () => ok({ current: true, version: coderVersion, url: '' })),
  open('GET', '/appearance', () => ok(appearance)),
  route('GET', '/deployment/config', async () => {
    throw forbidden();
  }),
];
