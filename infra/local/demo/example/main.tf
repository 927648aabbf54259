# A small service, made of nothing but Terraform's built-in provider, so that it needs no registry and no account.

variable "environment" {
  type    = string
  default = "demo"
}

variable "database_password" {
  type      = string
  sensitive = true
}

resource "terraform_data" "network" {
  input = { name = "${var.environment}-network", cidr = "10.20.0.0/16" }
}

resource "terraform_data" "subnet" {
  for_each = { a = 0, b = 1, c = 2 }
  input = {
    name = "${terraform_data.network.output.name}-${each.key}"
    cidr = cidrsubnet(terraform_data.network.output.cidr, 8, each.value)
  }
}

resource "terraform_data" "database" {
  input            = { name = "${var.environment}-db", subnets = [for subnet in terraform_data.subnet : subnet.output.name] }
  triggers_replace = sha256(var.database_password)

  provisioner "local-exec" {
    command = "for step in subnets storage replica; do echo \"preparing $step\"; sleep 0.3; done"
  }
}

resource "terraform_data" "service" {
  input = { name = "${var.environment}-service", database = terraform_data.database.output.name, replicas = 3 }
}

output "service" {
  value = terraform_data.service.output.name
}

output "subnets" {
  value = { for key, subnet in terraform_data.subnet : key => subnet.output.cidr }
}

output "connection_string" {
  value     = "postgres://app:${var.database_password}@${terraform_data.database.output.name}:5432/app"
  sensitive = true
}
