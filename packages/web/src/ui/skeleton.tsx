import './skeleton.css'

/** Rows in place of a list that comes; they show after 200 ms only, so that quick answers do not flicker. */
export const Skeleton = ({ rows = 8 }: { rows?: number }) => (
	<div className="skeleton" role="status">
		<span className="hidden">Loading…</span>
		{Array.from({ length: rows }, (_, row) => (
			// biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike.
			<div key={row} className="skeleton-row" aria-hidden="true">
				<span />
				<span />
				<span />
			</div>
		))}
	</div>
)
