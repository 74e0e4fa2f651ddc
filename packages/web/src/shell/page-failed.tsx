import { useQueryClient } from '@tanstack/react-query'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { describe } from '../api/errors.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { PageHeader } from '../ui/page-header.tsx'

/** In place of a page that threw, with the frame around it. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
	const { title, advice, requestId, isRepeatable } = describe(error)
	const client = useQueryClient()
	const router = useRouter()
	const retry = () => {
		void client.resetQueries()
		void router.invalidate()
		reset()
	}
	return (
		<div className="page-error">
			<PageHeader title={title} />
			<ErrorPanel title={title} advice={advice} requestId={requestId} onRetry={isRepeatable ? retry : undefined} />
		</div>
	)
}

export const NotFound = () => (
	<div className="page-error">
		<PageHeader title="There is no such page" />
		<EmptyState title="Nothing is here" action={<Link to="/">Go to the start</Link>}>
			The link may be cut off or of another version of Remit.
		</EmptyState>
	</div>
)
