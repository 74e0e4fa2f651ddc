import type { ReactNode } from 'react'
import './card.css'

/** A part of a page, with its heading. `isFlush`: a table reaches its edges. */
export const Card = ({ title, actions, children, isFlush }: CardProps) => (
	<section className={isFlush ? 'card flush' : 'card'}>
		{title && (
			<header className="card-head">
				<h2>{title}</h2>
				{actions}
			</header>
		)}
		{children}
	</section>
)

interface CardProps {
	readonly title?: string
	readonly actions?: ReactNode
	readonly children: ReactNode
	readonly isFlush?: boolean
}

/** Facts as pairs; those without a value are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
	<dl className="facts">
		{facts
			.filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
			.map(([name, value]) => (
				<div key={name}>
					<dt>{name}</dt>
					<dd>{value}</dd>
				</div>
			))}
	</dl>
)
