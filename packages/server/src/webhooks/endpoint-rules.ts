import { ApiError } from '../base/errors.ts'
import type { WebhookEndpoint } from '../generated/contract.ts'

/** Nothing is sent to an endpoint that its owner, or Remit, has stopped. */
export function refuseInactive({ id, status }: WebhookEndpoint): void {
	if (status === 'active') return
	throw new ApiError('webhook_endpoint_not_active', `The endpoint ${id} is ${status}: set its status to active first.`)
}
