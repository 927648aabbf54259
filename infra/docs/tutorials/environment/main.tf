# An ephemeral environment, made of Terraform's built-in resources: replace them by your own.

terraform {
  required_providers {
    coder = {
      source  = "coder/coder"
      version = "~> 2.13"
    }
  }
}

data "coder_workspace" "me" {}
data "coder_workspace_owner" "me" {}

data "coder_parameter" "size" {
  name         = "size"
  display_name = "Disk in GB"
  type         = "number"
  default      = "10"
  mutable      = true
  validation {
    min       = 10
    max       = 100
    monotonic = "increasing"
  }
}

# Stays while the environment is stopped.
resource "terraform_data" "disk" {
  input = { name = "${data.coder_workspace_owner.me.name}-${data.coder_workspace.me.name}", gigabytes = data.coder_parameter.size.value }
}

# Exists only while it is started: start_count is 0 or 1.
resource "terraform_data" "machine" {
  count = data.coder_workspace.me.start_count
  input = { disk = terraform_data.disk.output.name }
}
