import type { Pipeline } from '@remit/sdk'
import type { InPlaceOf } from '../ui/places.tsx'
import '../ui/skeleton.css'
import './board.css'

/** In place of the board: its columns, as soon as it is known what they are, with empty cards. */
export const BoardSkeleton = ({ pipeline }: { pipeline: Pipeline | undefined }) => (
	<div className="board" role="status">
		<span className="hidden">Loading…</span>
		{(pipeline?.stages ?? Array.from({ length: 4 }, (_, at) => ({ key: String(at), label: '' }))).map(({ key, label }) => (
			<div key={key} className="lane" aria-hidden="true">
				<div className="lane-head">
					<h2>{label}</h2>
				</div>
				<div className="deal-card empty" />
				<div className="deal-card empty" />
			</div>
		))}
	</div>
)

export const InBoard = ({ failed, pipeline }: InPlaceOf & { pipeline: Pipeline }) =>
	failed ?? <BoardSkeleton pipeline={pipeline} />
