/** Service discovery for `terraform login`; resources/sign-in/login-routes.ts implements it. */

export const clientId = 'terraform-cli';
const [firstPort, lastPort] = [10_000, 10_010];

export const loginService = {
  client: clientId,
  grant_types: ['authz_code'],
  authz: '/oauth/authorization',
  token: '/oauth/token',
  ports: [firstPort, lastPort],
};

/** Whether Terraform listens at this URI for the authorization code. */
export const isTerraformHere = (uri: string): boolean => {
  const port = Number(/^http:\/\/localhost:(\d{5})\/login$/.exec(uri)?.[1]);
  return port >= firstPort && port <= lastPort;
};
