// A provider with one resource, a file outside of Terraform's directory: tests change it by hand.
package main

import (
	"context"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const address = "example.com/test/drift"

type drift struct{}

func (drift) Metadata(_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse) {
	response.TypeName = "drift"
}
func (drift) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse)          {}
func (drift) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}
func (drift) DataSources(context.Context) []func() datasource.DataSource                        { return nil }
func (drift) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return file{} }}
}

type file struct{}

type model struct {
	Path    types.String `tfsdk:"path"`
	Content types.String `tfsdk:"content"`
	// Creation waits until that file is there, whatever interrupts it.
	WaitsFor types.String `tfsdk:"waits_for"`
}

func (file) Metadata(_ context.Context, _ resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = "drift_file"
}

func (file) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"path":      schema.StringAttribute{Required: true},
		"content":   schema.StringAttribute{Required: true},
		"waits_for": schema.StringAttribute{Optional: true},
	}}
}

// A new file each time: another user of the machine may have made the one before.
func write(planned model) error {
	path := planned.Path.ValueString()
	_ = os.Remove(path)
	return os.WriteFile(path, []byte(planned.Content.ValueString()), 0o666)
}

func (file) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var planned model
	response.Diagnostics.Append(request.Plan.Get(ctx, &planned)...)
	if err := write(planned); err != nil {
		response.Diagnostics.AddError("File not written", err.Error())
		return
	}
	for name := planned.WaitsFor.ValueString(); name != ""; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			break
		}
	}
	response.Diagnostics.Append(response.State.Set(ctx, &planned)...)
}

func (file) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	var stored model
	response.Diagnostics.Append(request.State.Get(ctx, &stored)...)
	content, err := os.ReadFile(stored.Path.ValueString())
	if err != nil {
		response.State.RemoveResource(ctx)
		return
	}
	stored.Content = types.StringValue(string(content))
	response.Diagnostics.Append(response.State.Set(ctx, &stored)...)
}

func (file) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var planned model
	response.Diagnostics.Append(request.Plan.Get(ctx, &planned)...)
	if err := write(planned); err != nil {
		response.Diagnostics.AddError("File not written", err.Error())
		return
	}
	response.Diagnostics.Append(response.State.Set(ctx, &planned)...)
}

func (file) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	var stored model
	response.Diagnostics.Append(request.State.Get(ctx, &stored)...)
	_ = os.Remove(stored.Path.ValueString())
}

func main() {
	options := providerserver.ServeOpts{Address: address}
	if err := providerserver.Serve(context.Background(), func() provider.Provider { return drift{} }, options); err != nil {
		panic(err)
	}
}
