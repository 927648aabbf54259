/** Keys of objects in the bucket. The functions' permissions depend on the first part of a key. */
export const objects = {
  /** Uploads by clients; read once, to accept them (bucket.ts `presignUpload`). */
  upload: (name: string) => `uploads/${name}`,
  /** Export of the explorer; expires like uploads. */
  exported: (id: string) => `uploads/${id}.csv`,
  /** @param copy distinguishes uploads that were accepted at the same time */
  configuration: (configurationVersionId: string, copy: string) =>
    `configurations/${configurationVersionId}/${copy}.tar.gz`,
  /**
   * A commit as a configuration, for all followers of its repository.
   * @param fetch distinguishes fetches of the commit, so that deleting an object never deletes that of a later fetch
   */
  commit: (repository: string, sha: string, fetch: string, sha256: string) =>
    `configurations/vcs/${repository}/${sha}/${fetch}-${sha256}.tar.gz`,
  moduleArchive: (moduleVersionId: string, digest: string) => `registry/modules/${moduleVersionId}/${digest}.tar.gz`,
  moduleDetails: (moduleVersionId: string, digest: string) => `registry/modules/${moduleVersionId}/${digest}.json`,
  /** @param what content of the version: its sums, their signature, or a platform's binary */
  providerFile: (providerVersionId: string, digest: string, what: string) =>
    `registry/providers/${providerVersionId}/${digest}/${what}`,
  /** A provider of a public registry, for all runs. */
  sharedProvider: (sha256: string) => `providers/${sha256}.zip`,
  readme: (configurationVersionId: string, digest: string) => `configurations/${configurationVersionId}/${digest}.md`,
  inputs: (runId: string) => `inputs/${runId}.json`,
  runProviderSets: (runId: string) => `inputs/${runId}.provider-sets.json`,
  runPolicies: (runId: string) => `inputs/${runId}.policies.json`,
  policyResult: (runId: string, what: string, digest: string) => `runs/${runId}/policies/${what}-${digest}.json`,
  policyContent: (policyId: string, digest: string) => `policies/${policyId}/${digest}`,
  policyBundle: (policySetVersionId: string, digest: string) => `policies/${policySetVersionId}/${digest}.json`,
  artifact: (runId: string, phase: string, artifact: string) => `runs/${runId}/${phase}/${artifact}`,
  outcomes: (runId: string, taskResultId: string, version: string) =>
    `outcomes/${runId}/${taskResultId}/${version}.json`,
  costEstimate: (runId: string) => `runs/${runId}/cost-estimate.json`,
  /** @param sha256 hash of the content; missing: stored before states were keyed by it */
  state: (workspaceId: string, stateVersionId: string, sha256?: string) =>
    `states/${workspaceId}/${stateVersionId}${sha256 === undefined ? '' : `/${sha256}`}.tfstate`,
  /** @param copy copy of an upload; missing: the place where a runner uploads it once */
  jsonState: (workspaceId: string, stateVersionId: string, copy?: string) =>
    `states/${workspaceId}/${stateVersionId}${copy === undefined ? '' : `/${copy}`}.json`,
  /** Changes that an apply made to the state with that MD5; expires like uploads (resources/states/snapshots.ts). */
  stateChanges: (runId: string, md5: string) => `uploads/state-changes/${runId}/${md5}`,
  /**
   * Upload of a runner whose state could not be saved as a state version; always copied before it is read
   * (lifecycle/queue/unsaved-states.ts).
   */
  leftState: (runId: string) => `runs/${runId}/apply/left-state`,
  /**
   * The encrypted file of a state that its runner had kept, until the platform has restored it
   * (runner/api/kept-states.ts).
   */
  keptState: (runId: string, sha256: string) => `uploads/kept-states/${runId}/${sha256}`,
  /** Not a state version, but stored under `states/`, where objects do not expire. */
  erroredState: (workspaceId: string, runId: string, copy?: string) =>
    `states/${workspaceId}/${runId}${copy === undefined ? '' : `.${copy}`}.errored.tfstate`,
  outputs: (workspaceId: string, stateVersionId: string, sha256?: string) =>
    `states/${workspaceId}/${stateVersionId}${sha256 === undefined ? '' : `/${sha256}`}.outputs.json`,
};
