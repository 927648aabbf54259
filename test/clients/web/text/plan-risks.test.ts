import { expect, it } from 'vitest';
import { differencesOf } from '#clients/client/text/plan.ts';
import { areaOf, risksOf } from '#clients/web/text/plan-risks.ts';

it('types of resources are recognized as IAM or network by their names', () => {
  const access =
    'aws_iam_role_policy aws_kms_grant aws_s3_bucket_policy aws_s3_bucket_acl aws_lambda_permission aws_ssoadmin_permission_set google_project_iam_member google_service_account_key azurerm_role_assignment azurerm_key_vault_access_policy azuread_group kubernetes_cluster_role_binding_v1 github_team_repository_permission vault_jwt_auth_backend_role postgresql_grant';
  const network =
    'aws_vpc aws_subnet aws_security_group_rule aws_vpc_security_group_ingress_rule aws_network_acl aws_route53_record aws_lb_listener aws_nat_gateway aws_eip aws_alb_target_group google_compute_firewall google_compute_address google_dns_record_set azurerm_virtual_network azurerm_public_ip azurerm_network_security_rule kubernetes_ingress_v1 kubernetes_network_policy cloudflare_record';
  const neither =
    'aws_instance aws_db_instance aws_s3_bucket aws_autoscaling_policy aws_cognito_user_pool aws_api_gateway_rest_api aws_cloudwatch_metric_alarm kubernetes_namespace kubernetes_deployment google_container_node_pool random_password terraform_data tls_private_key';
  const wrong = Object.entries({ access, network, undefined: neither }).flatMap(([area, types]) =>
    types.split(' ').filter((type) => String(areaOf(type)) !== area),
  );
  expect(wrong).toEqual([]);
});

it('the risks of a plan count changes only', () => {
  const changes = [
    ['aws_instance.a', 'delete'],
    ['module.a["x.y"].aws_iam_role.a', 'delete', 'create'],
    ['aws_iam_role.b', 'no-op'],
    ['data.aws_iam_policy_document.c', 'read'],
    ['module.a[0].module.b.aws_subnet.a["eu.b"]', 'update'],
    ['aws_subnet.b', 'create'],
  ].map(([address = '', ...actions]) => ({ address, change: { actions } }));
  const { resources } = differencesOf({ resource_changes: changes });
  expect(risksOf(resources)).toEqual(['1 destroy', '1 replacement', '1 IAM change', '2 network changes']);
  expect(risksOf(differencesOf({ resource_changes: changes.slice(2, 4) }).resources)).toEqual([]);
});
