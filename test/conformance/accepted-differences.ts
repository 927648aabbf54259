/** An accepted difference, with `*` as a wildcard, and the reason. */
export type Known = readonly [difference: string, why: string];

/** Routes that only ever answer with an error, which is correct on this platform. */
export const refused: readonly string[] = ['GET /api/v2/applies/{apply}/errored-state'];

/** Accepted differences from HCP Terraform's description. */
export const acceptedDifferences: readonly Known[] = [
  // Used by HCP Terraform's clients, but missing in the description.
  ['GET /organizations/{}/entitlement-set: is not described', 'asked first by every terraform command'],
  ['GET /organizations/{}/runs/queue: is not described', 'asked by terraform while a run waits'],
  ['GET /organizations/{}/capacity: is not described', 'asked by terraform while a run waits'],
  ['GET /ping: is not described', 'asked first by every terraform command'],
  ['* /projects/{}/tag-bindings: is not described', 'the spelling that go-tfe uses, beside the described one'],
  ['* /workspaces/{}/tag-bindings: is not described', 'the spelling that terraform uses, beside the described one'],
  ['GET /run-events/{}: is not described', 'read by go-tfe'],
  ['GET /runs/{}/run-events: is not described', 'read by terraform after it has made a run'],
  ['GET /state-versions/{}/*download: is not described', 'where hosted-state-download-url leads'],
  [
    'POST /runs/{}/actions/*: is not described',
    'of the run actions only apply is described; the documentation has all',
  ],
  [
    'GET /configuration-versions/{configuration_version_id}/download: answers 302, which is not described',
    'the documentation says 302; the archive lies in the bucket',
  ],
  ['GET /runs/{run_id}/configuration-version/download: answers 302, which is not described', 'as above'],
  ['POST *: has no body with 202', 'the documentation says none; the description wants the word null'],
  ['included workspace-outputs: is not described', 'in the documentation: what include=outputs gives'],
  ['included workspace-readme: is not described', 'read by go-tfe: what include=readme gives'],
  ['GET /runs/{}/apply: is not described', 'beside the described way to the apply, as there is one to the plan'],
  ['GET /runs/{}/plan/json-output-redacted: is not described', 'beside the described way by the plan’s own id'],
  ['GET /cost-estimates/{}/output: is not described', 'read by go-tfe'],
  ['GET /task-result-outcomes/{}/body: is not described', 'where an outcome’s own link to its body leads'],

  ['GET /policies/{policy_id}/download: has content type text/plain*', 'source text, never run by a browser'],
  ['GET /policy-checks/{id}/output: has no body with 200', 'until the check has said something; terraform prints it'],

  // The JSON:API way, which the description follows in some places and leaves out in others.
  ['*.links: is not described', 'JSON:API: a resource and a relationship may link to itself and to related ones'],
  ['*.meta: is not described', 'clients page every list by meta.pagination, whether it is cut or not'],
  [
    'pagination.pagination: is not described',
    'clients read meta.pagination; here the description has its members in meta',
  ],
  ['notification-configurations.attributes.token: is for writing only', 'in the documentation’s samples: null'],
  [
    'GET /organizations/{organization_name}/organization-memberships.meta.status-counts: is not described',
    'in the documentation’s samples; the description has it with each membership',
  ],
  ['errors.errors[].source: is not described', 'JSON:API: where in the request the error is'],
  ['*/applicable-varsets.data[].*: is not described', 'a variable set looks the same everywhere'],
  ['*/relationships/tags.data[].relationships: is not described', 'go-tfe reads the organization of a tag'],
  ['workspaces.relationships.effective-tag-bindings: is not described', 'go-tfe finds included bindings by it'],

  // In the documentation or in clients, but missing in the description.
  ['self.self-html: is not described', 'in the documentation’s samples: the page of the thing'],
  ['runs.attributes.position-in-queue: is not described', 'read by terraform, which needs a number'],
  ['runs.attributes.status-timestamps.plan-queueable-at: is not described', 'in the documentation: when it was queued'],
  ['runs.attributes.status-timestamps.policy-checking-at: is not described', 'stamped like every other status'],
  ['runs.attributes.status-timestamps.policy-override-at: is not described', 'stamped like every other status'],
  [
    'runs.attributes.status-timestamps.post-plan-awaiting-decision-at: is not described',
    'stamped like every other status',
  ],
  [
    'runs.attributes.status: is "post_plan_awaiting_decision", which is not listed',
    'in the documentation and read by terraform, which asks for the override then',
  ],
  ['self.errored-state: is not described', 'where the state of an apply is that could not become the workspace’s'],
  ['configuration-versions.attributes.changed-files: is not described', 'in the documentation’s samples'],
  ['configuration-versions.attributes.status-timestamps.*: is not described', 'read by go-tfe'],
  ['state-version-outputs.attributes.value: is not described', 'what an output is for; read by terraform'],
  ['state-version-outputs.relationships: is not described', 'in the documentation’s samples'],
  ['users.attributes.permissions.can-create-organizations: is not described', 'read by go-tfe'],
  ['plans.attributes.status-timestamps.*: is not described', 'in the documentation; when the runner ended as it did'],
  ['applies.attributes.status-timestamps.queued-at: is not described', 'read by go-tfe'],

  ['policy-checks.attributes.result.duration: is not described', 'read by go-tfe, beside duration-ms'],
  ['policy-checks.links.self: is not described', 'JSON:API, as everywhere'],
  ['policy-set-outcomes.attributes.result_count: is not described', 'read by go-tfe, with this underscore'],
  ['GET /policy-checks/{id}/output: has content type text/plain*', 'it is text; described are bytes of any kind'],

  [
    'organizations.attributes.terraform-build-worker-*: is not described',
    'in the documentation of Terraform Enterprise: how long runs may take',
  ],

  // Extensions of this platform.
  ['PATCH *: answers 412, which is not described', 'ours: If-Match, when another user was faster'],
  ['errors.errors[].meta: is not described', 'ours, in JSON:API format: which user was faster, and when'],
  [
    'organizations.attributes.permissions.can-read-audit-trail: is not described',
    'ours: the page shows the trail by it',
  ],
  ['policy-checks.attributes.override: is not described', 'ours: who let failed policies pass, when and why'],
  ['policy-evaluations.attributes.override: is not described', 'ours: who let failed policies pass, when and why'],
  ['runs.attributes.end-reason: is not described', 'ours: why a run ended as it did, in plain words'],
  ['runs.attributes.fetch-retry: is not described', 'ours: why a run still waits for its commit'],
  ['runs.attributes.finishing-resources: is not described', 'ours: what Terraform finishes before a canceled run ends'],
  ['runs.attributes.source-name: is not described', 'ours, as workspaces have it: our command line created it'],
  ['plans.attributes.error-message: is not described', 'ours: what went wrong, in a sentence'],
  ['applies.attributes.error-message: is not described', 'ours: what went wrong, in a sentence'],
  ['cost-estimates.attributes.price-sources: is not described', 'ours: where the prices are from'],
  ['cost-estimates.attributes.prices-as-of: is not described', 'ours: how old the prices of the file are'],
  ['state-versions.attributes.error-message: is not described', 'ours: why a state was discarded'],
];
