import { type Check, differs, expect, ok, skipped } from '../check.ts';

/** A plan of these needs no call to AWS. */
const main = `terraform {
  required_providers {
    aws = { source = "hashicorp/aws", version = "~> 5.0" }
  }
}
provider "aws" {
  region                      = "us-east-1"
  access_key                  = "verify"
  secret_key                  = "verify"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
}
resource "aws_instance" "a" {
  ami           = "ami-0123456789abcdef0"
  instance_type = "t3.micro"
}
resource "aws_ebs_volume" "a" {
  availability_zone = "us-east-1a"
  size              = 10
  type              = "gp3"
}
resource "aws_db_instance" "a" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  username            = "verify"
  password            = "verify-verify"
  skip_final_snapshot = true
}
`;

export const priceList: Check = {
  name: 'price list',
  proves: 'Cost estimates find instance, volume and database in the AWS Price List API',
  documented: 'prices of the API; those of the package only without access to it',
  async perform(platform) {
    if (platform.target.kind !== 'aws') return skipped('only AWS has a Price List API');
    const workspace = await platform.newWorkspace('costs');
    const { run } = await platform.start(workspace, { 'main.tf': main }, { 'plan-only': true });
    await platform.ended(run, 'planned_and_finished');
    const { attributes } = await platform.client.get(`/cost-estimates/${run.id.replace('run-', 'ce-')}`);
    expect(attributes.status === 'finished', `the estimate is ${attributes.status}: ${attributes['error-message']}`);
    const matched = Number(attributes['matched-resources-count']);
    const text = `${matched} of ${attributes['resources-count']} resources, $${attributes['proposed-monthly-cost']} a month`;
    const sources = JSON.stringify(attributes['price-sources']);
    const isWhole = matched === 3 && sources.includes('price-list-api') && !sources.includes('price-file');
    return isWhole ? ok(text, { matched }) : differs(`${text}, from ${sources}`, { matched });
  },
};
