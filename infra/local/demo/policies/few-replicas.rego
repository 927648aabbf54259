# At most two replicas without somebody's word for it.
package terraform

deny contains message if {
	some change in input.plan.resource_changes
	replicas := change.change.after.input.replicas
	replicas > 2
	message := sprintf("%s has %d replicas; more than 2 need an override", [change.address, replicas])
}
