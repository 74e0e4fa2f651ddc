import { PageHeader, type PageHeaderProps } from './page-header.tsx'
import { Skeleton } from './skeleton.tsx'

/** A page whose record is on its way: what it is, and rows in place of the rest. */
export const Waiting = (props: Pick<PageHeaderProps, 'title' | 'above'>) => (
	<>
		<PageHeader {...props} />
		<Skeleton />
	</>
)
