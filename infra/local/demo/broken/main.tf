# Refers to a subnet that does not exist: terraform plan fails, and the run says how.

variable "database_password" {
  type      = string
  sensitive = true
}

resource "terraform_data" "network" {
  input = { name = "demo-network", cidr = "10.20.0.0/16" }
}

resource "terraform_data" "service" {
  input = { name = "demo-service", subnet = terraform_data.subnet["d"].output.name }
}
