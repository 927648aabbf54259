module example.com/test

go 1.26.8

require github.com/hashicorp/terraform-plugin-framework v1.19.0
