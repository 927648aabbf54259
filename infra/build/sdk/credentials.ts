/**
 * Replaces `@aws-sdk/credential-provider-node` in every Lambda bundle: a function always has its credentials in its
 * environment, so the chain through profiles, SSO and instance metadata (about 100 KB to parse) is never used.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
