// A provider that lists the files of a folder, which `terraform query` finds, and whose action makes one.
package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-framework/action"
	actionschema "github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const address = "example.com/test/listed"

type listed struct{}

func (listed) Metadata(_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse) {
	response.TypeName = "listed"
}
func (listed) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse)          {}
func (listed) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}
func (listed) DataSources(context.Context) []func() datasource.DataSource                        { return nil }
func (listed) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return file{} }}
}
func (listed) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{func() list.ListResource { return files{} }}
}

func (listed) Actions(context.Context) []func() action.Action {
	return []func() action.Action{func() action.Action { return touch{} }}
}

type touch struct{}

func (touch) Metadata(_ context.Context, _ action.MetadataRequest, response *action.MetadataResponse) {
	response.TypeName = "listed_touch"
}

func (touch) Schema(_ context.Context, _ action.SchemaRequest, response *action.SchemaResponse) {
	response.Schema = actionschema.Schema{Attributes: map[string]actionschema.Attribute{
		"path": actionschema.StringAttribute{Required: true},
	}}
}

func (touch) Invoke(ctx context.Context, request action.InvokeRequest, response *action.InvokeResponse) {
	var asked model
	response.Diagnostics.Append(request.Config.Get(ctx, &asked)...)
	if err := os.WriteFile(asked.Path.ValueString(), nil, 0o666); err != nil {
		response.Diagnostics.AddError("File not written", err.Error())
	}
}

type file struct{}

type model struct {
	Path types.String `tfsdk:"path"`
}

func (file) Metadata(_ context.Context, _ resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = "listed_file"
}

func (file) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schema.Schema{Attributes: map[string]schema.Attribute{"path": schema.StringAttribute{Required: true}}}
}

func (file) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, response *resource.IdentitySchemaResponse) {
	response.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"path": identityschema.StringAttribute{RequiredForImport: true},
	}}
}

func (file) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var planned model
	response.Diagnostics.Append(request.Plan.Get(ctx, &planned)...)
	response.Diagnostics.Append(response.State.Set(ctx, &planned)...)
	response.Diagnostics.Append(response.Identity.Set(ctx, &planned)...)
}
func (file) Read(context.Context, resource.ReadRequest, *resource.ReadResponse)       {}
func (file) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}
func (file) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

type files struct{ file }

type query struct {
	Folder types.String `tfsdk:"folder"`
}

func (files) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, response *list.ListResourceSchemaResponse) {
	response.Schema = listschema.Schema{Attributes: map[string]listschema.Attribute{
		"folder": listschema.StringAttribute{Required: true},
	}}
}

func (files) List(ctx context.Context, request list.ListRequest, stream *list.ListResultsStream) {
	var asked query
	if diagnostics := request.Config.Get(ctx, &asked); diagnostics.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diagnostics)
		return
	}
	found, _ := filepath.Glob(filepath.Join(asked.Folder.ValueString(), "*"))
	stream.Results = func(push func(list.ListResult) bool) {
		for _, path := range found {
			result := request.NewListResult(ctx)
			result.DisplayName = filepath.Base(path)
			result.Diagnostics.Append(result.Identity.Set(ctx, model{types.StringValue(path)})...)
			if request.IncludeResource {
				result.Diagnostics.Append(result.Resource.Set(ctx, model{types.StringValue(path)})...)
			}
			if !push(result) {
				return
			}
		}
	}
}

func main() {
	options := providerserver.ServeOpts{Address: address}
	if err := providerserver.Serve(context.Background(), func() provider.Provider { return listed{} }, options); err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}
